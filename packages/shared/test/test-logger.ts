import { createLogger } from "#src/telemetry/logger.ts";

/** Silent, because failures that tests provoke would hide real ones. */
export const logger = createLogger({ service: "test", level: "silent" });
