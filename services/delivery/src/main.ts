import { runProcess } from "@postrider/shared/lifecycle";
import { startApp } from "#src/app.ts";
import { readConfig } from "#src/config.ts";

// A visible call in the air is waited for: 60 s, over 4 minutes with 50 MB of media, and what it takes to write its outcome.
await runProcess(() => startApp(readConfig()), { graceMs: 300_000 });
