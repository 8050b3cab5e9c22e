import { createLogger } from "#src/telemetry/logger.ts";

/** A silent logger, because failures that tests provoke would hide real failures. */
export const logger = createLogger({ service: "test", level: "silent" });
