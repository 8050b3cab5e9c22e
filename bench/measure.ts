import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import autocannon from "autocannon";

export const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"]).toString());

/** User and system CPU seconds that a process has used so far; 0 if it has ended. */
export function cpuSeconds(pid: number): number {
  const [user = 0, system = 0] = statOf(pid).slice(11, 13).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/**
 * The fields of `/proc/<pid>/stat` after the process name, which may contain spaces; empty if the
 * process has ended.
 */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** CPU seconds of a process and its children, including children that have ended. */
export function cpuSecondsOfFamily(pid: number): number {
  const ticksOfEnded = statOf(pid).slice(13, 15);
  const ended = ticksOfEnded.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  const children = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && statOf(Number(name))[1] === String(pid),
  );
  return [pid, ...children.map(Number)].reduce((sum, each) => sum + cpuSeconds(each), ended);
}

const NUMBER = "{number}";

export interface Load {
  readonly name: string;
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Record<string, string>;
  /** Body of each request; `{number}` is replaced by a different number in each request. */
  readonly body?: string;
  /** Headers and bodies of requests that are sent in turn, instead of those above. */
  readonly turns?: readonly { readonly headers: Record<string, string>; readonly body: string }[];
  readonly connections: number;
  readonly seconds: number;
  /**
   * Ids of the processes whose CPU time, with that of their children, the benchmark measures, by
   * process name.
   */
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
 * Builds the requests for the load generator autocannon. `{number}` in the body becomes a different
 * number in each request.
 */
function toRequests({ body, turns }: Load): readonly autocannon.Request[] {
  if (turns !== undefined)
    return [
      {
        setupRequest: (request) => {
          requestNumber += 1;
          const turn = turns[requestNumber % turns.length];
          const content = turn?.body.replace(NUMBER, String(requestNumber)) ?? "";
          return { ...request, headers: { ...request.headers, ...turn?.headers }, body: content };
        },
      },
    ];
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
 * Sends requests for 2 s to warm up the server, then measures. The load generator runs on the same
 * machine, so only ratios between results are meaningful.
 */
export async function measure(load: Load): Promise<Measured> {
  await run(load, 2);
  const pids = Object.entries(load.pids ?? {});
  const before = pids.map(([, pid]) => cpuSecondsOfFamily(pid));
  const result = await run(load, load.seconds);
  const after = pids.map(([, pid]) => cpuSecondsOfFamily(pid));
  const requests = result["2xx"] + result.non2xx;
  const cpuUs = Object.fromEntries(
    pids.map(([name], index) => [
      name,
      Math.round(((after[index] ?? 0) - (before[index] ?? 0)) * (1e6 / Math.max(1, requests))),
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

/** Memory that processes have in use. */
export function megabytesOf(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}
