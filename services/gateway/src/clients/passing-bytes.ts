import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const COLLECT_BYTES = 16 * 1024 * 1024;

let uncollectedBytes = 0;
let collectYoung: (() => void) | undefined;

/** V8 exposes `gc` to contexts made after the flag is set: no command-line flag is needed. */
function findCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  return () => gc({ type: "minor" });
}

/**
 * Collects garbage after every 16 MB of bodies that are piped from socket to socket: a chunk is a
 * 64 KB buffer outside V8's heap, so V8 would not collect until 64 MB have piled up. At
 * `--max-semi-space-size=2` and an upload of 1 GB, memory grows by 20 MB instead of 60 MB, with 1.1
 * s instead of 1.5 s of processor time. Not for code that handles chunks itself: uploads in media
 * got slower.
 */
export function notePassingBytes(bytes: number): void {
  uncollectedBytes += bytes;
  if (uncollectedBytes < COLLECT_BYTES) return;
  uncollectedBytes = 0;
  collectYoung ??= findCollector();
  collectYoung();
}
