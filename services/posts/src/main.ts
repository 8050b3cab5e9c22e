import { GRACE_MS, runProcess } from "@postrider/shared/process/lifecycle";
import { startApp } from "#src/app.ts";
import { readConfig } from "#src/config.ts";

await runProcess(() => startApp(readConfig()), { graceMs: GRACE_MS });
