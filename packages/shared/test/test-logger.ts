import { createLogger } from "#src/logger.ts";

/** Failures that tests provoke would only hide real ones. */
export const logger = createLogger({ service: "test", level: "silent" });
