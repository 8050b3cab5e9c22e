import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import autocannon from "autocannon";

export const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"]).toString());

/** User and system CPU seconds that a process has used so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const NUMBER = "{number}";

export interface Load {
  readonly name: string;
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Record<string, string>;
  /** Body of each request; `{number}` is replaced by a different number in each request. */
  readonly body?: string;
  readonly connections: number;
  readonly seconds: number;
  /** Ids of the processes whose CPU time the benchmark measures, by process name. */
  readonly pids?: Readonly<Record<string, number>>;
}

export interface Measured {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Number of responses with a status other than 2xx, plus broken connections. */
  readonly failures: number;
  /** CPU time per request in microseconds, for each process in `pids` of the load. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

let requestNumber = 0;

/**
 * Builds the requests for the load generator autocannon. `{number}` in the body becomes a different number in each
 * request.
 */
function toRequests({ body }: Load): readonly autocannon.Request[] {
  if (body === undefined) return [{}];
  if (!body.includes(NUMBER)) return [{ body }];
  return [
    {
      setupRequest: (request) => {
        requestNumber += 1;
        return { ...request, body: body.replace(NUMBER, String(requestNumber)) };
      },
    },
  ];
}

async function run(load: Load, seconds: number) {
  return await autocannon({
    url: load.url,
    method: load.method ?? "GET",
    connections: load.connections,
    duration: seconds,
    requests: [...toRequests(load)],
    ...(load.headers === undefined ? {} : { headers: load.headers }),
  });
}

/**
 * Sends requests for 2 s to warm up the server, then measures. The load generator runs on the same machine, so only
 * ratios between results are meaningful.
 */
export async function measure(load: Load): Promise<Measured> {
  await run(load, 2);
  const pids = Object.entries(load.pids ?? {});
  const before = pids.map(([, pid]) => cpuSeconds(pid));
  const result = await run(load, load.seconds);
  const requests = result["2xx"] + result.non2xx;
  const cpuUs = Object.fromEntries(
    pids.map(([name, pid], index) => [
      name,
      Math.round(((cpuSeconds(pid) - (before[index] ?? 0)) * 1e6) / Math.max(1, requests)),
    ]),
  );
  return {
    name: load.name,
    requestsPerSecond: Math.round(result.requests.average),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
    cpuUs,
  };
}

/** Returns the sample below which the fraction `share` of all samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
