import { GRACE_MS, runProcess } from "@postrider/shared/process/lifecycle";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { readInspectorConfig } from "#src/config.ts";
import { startInspector } from "./start-inspector.ts";

await runProcess(
  async () => {
    const logger = createLogger({ service: "inspector", level: "info" });
    const onStray = (pids: readonly number[]): void => {
      logger.fatal(
        { count: pids.length },
        "an inspection of an uploaded file left processes running, so the file probably attacks the inspector; the inspector exits, and its container restarts without them",
      );
      process.exit(1);
    };
    // Only the first process of a container inherits what an inspection left behind, and all
    // processes of the container end with it.
    const isFirst = process.pid === 1;
    const config = readInspectorConfig();
    const inspector = await startInspector({ ...config, onStray: isFirst ? onStray : undefined });
    logger.info({ url: inspector.url }, "the inspector is listening");
    return { logger, [Symbol.asyncDispose]: () => inspector[Symbol.asyncDispose]() };
  },
  { graceMs: GRACE_MS },
);
