/**
 * Loaded into each service by `--import`. At SIGUSR2 it writes which functions were called since the last time, by source file, to
 * the folder `ROAD_CALLS`.
 */
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [, service] = /services\/(\w+)\/src\/main\.ts$/.exec(process.argv[1] ?? "") ?? [];
const folder = process.env.ROAD_CALLS;
const session = new Session();
let count = 0;

function writeCalls(): void {
  count += 1;
  const path = join(folder ?? "", `${service}-${count}.json`);
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error !== null) throw error;
    const files = taken.result
      .filter(({ url }) => url.startsWith("file:"))
      .map(({ url, functions }) => {
        const called = functions.flatMap(({ functionName, ranges: [range] }) =>
          range !== undefined && range.count > 0 ? [`${functionName} ${range.startOffset}`] : [],
        );
        return [fileURLToPath(url), called];
      });
    // The file gets its final name when it is complete, so that no reader sees a part of it.
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(files)));
    renameSync(`${path}.new`, path);
  });
}

if (service !== undefined && folder !== undefined) {
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  process.on("SIGUSR2", writeCalls);
}
