import { createLogger } from "#src/telemetry/logger.ts";

/** A silent logger: failures that tests provoke would hide real failures in the output. */
export const logger = createLogger({ service: "test", level: "silent" });
