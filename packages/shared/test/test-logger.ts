import { createLogger } from "#src/telemetry/logger.ts";

/** Failures that tests provoke would only hide real ones. */
export const logger = createLogger({ service: "test", level: "silent" });
