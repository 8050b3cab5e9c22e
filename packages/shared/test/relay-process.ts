import { createPostgresBus } from "#src/bus/postgres.ts";
import { startRelay } from "#src/outbox/relay.ts";
import { openSql } from "#src/postgres.ts";
import { configureFailpoints } from "#src/process/failpoints.ts";
import { logger } from "./test-logger.ts";

/**
 * The program of an outbox relay in a separate process, which tests can stop:
 * `node relay-process.ts <url> <topic> <failpoints>`.
 */
const [url = "", topic = "", failpoints = ""] = process.argv.slice(2);
configureFailpoints(failpoints);
const sql = openSql({ url, poolSize: 2, applicationName: "relay-process" });
const bus = createPostgresBus({ sql, logger });
startRelay({ sql, bus, service: "sample", topicOf: () => topic, logger, pollMs: 20 });
