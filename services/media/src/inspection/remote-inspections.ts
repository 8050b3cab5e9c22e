import { once } from "node:events";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import {
  deliveryBytesOf,
  type Inspection,
  type InspectionEnd,
  type InspectionRunner,
} from "./inspection-protocol.ts";
import {
  encodeRequest,
  INSPECTIONS_PATH,
  REQUEST_HEADER,
  splitAnswer,
} from "./inspector-protocol.ts";
import { parseEnd } from "./parse-end.ts";

/** Some of them wait at the inspector for a process. */
const MAX_AT_ONCE = 8;
/** Transfer, wait for a process and inspection of one file. */
const MAX_TOTAL_MS = 300_000;

/**
 * The inspector has no secret. Its answers are checked like those of a process, because a hostile
 * file may have taken it over.
 */
export class RemoteInspections implements InspectionRunner {
  readonly #url: URL;
  readonly #permits: Semaphore;
  readonly #stopping = new AbortController();

  constructor({ url, maxWaiting }: { readonly url: string; readonly maxWaiting: number }) {
    this.#url = new URL(INSPECTIONS_PATH, url);
    this.#permits = new Semaphore({ total: MAX_AT_ONCE, maxWaiting });
  }

  async run(inspection: Inspection): Promise<InspectionEnd> {
    const { signal } = this.#stopping;
    const shares = [{ key: inspection.request.owner ?? "", perFree: 1 }];
    // `acquire` fails only when too many files wait, or the service stops.
    using permit = await this.#permits.acquire({ shares, signal }).catch(() => undefined);
    if (permit === undefined || signal.aborted) return { kind: "full" };
    try {
      const timeout = AbortSignal.timeout(MAX_TOTAL_MS);
      return await this.#exchange(inspection, AbortSignal.any([signal, timeout]));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: "failed", message: `the inspector at ${this.#url.host} failed: ${reason}` };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
  }

  async #exchange(inspection: Inspection, signal: AbortSignal): Promise<InspectionEnd> {
    const headers = { [REQUEST_HEADER]: encodeRequest(inspection.request) };
    // A connection of its own, so that files are spread over all replicas.
    const request = sendRequest(this.#url, { method: "POST", agent: false, headers, signal });
    let fileBytes = 0;
    const count = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        fileBytes += chunk.length;
        yield chunk;
      }
    };
    const [[answer]] = await Promise.all([
      once(request, "response") as Promise<[IncomingMessage]>,
      pipeline(inspection.open(), count, request),
    ]);
    try {
      return await readAnswer(answer, fileBytes, inspection.receive);
    } finally {
      answer.destroy();
    }
  }
}

async function readAnswer(
  answer: IncomingMessage,
  fileBytes: number,
  receive: Inspection["receive"],
): Promise<InspectionEnd> {
  if (answer.statusCode !== 200) throw new Error(`it answered with HTTP ${answer.statusCode}`);
  const { said, rest } = await splitAnswer(answer);
  const end = parseEnd(said, fileBytes);
  if (end === undefined) throw new Error("its answer is not valid");
  const bytes = deliveryBytesOf(end);
  if (bytes !== undefined) await receive(end, { bytes, content: ofLength(rest, bytes) });
  return end;
}

async function* ofLength(
  chunks: AsyncIterable<Buffer>,
  expected: number,
): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > expected) break;
    yield chunk;
  }
  if (bytes !== expected) throw new Error("its file has another length than announced");
}
