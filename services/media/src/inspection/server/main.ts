import { GRACE_MS, runProcess } from "@postrider/shared/process/lifecycle";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { readInspectorConfig } from "#src/config.ts";
import { startInspector } from "./start-inspector.ts";

await runProcess(
  async () => {
    const logger = createLogger({ service: "inspector", level: "info" });
    const inspector = await startInspector(readInspectorConfig());
    logger.info({ url: inspector.url }, "the inspector is listening");
    return { logger, [Symbol.asyncDispose]: () => inspector[Symbol.asyncDispose]() };
  },
  { graceMs: GRACE_MS },
);
