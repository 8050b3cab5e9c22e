import type { DestinationStream, pino } from "pino";

/** Maximum time in milliseconds that a line waits in memory. */
const MAX_WAIT_MS = 100;

/** The part of pino's output stream that this file uses. The event `write` says how many bytes were written. */
type Output = Pick<ReturnType<typeof pino.destination>, "write" | "flush" | "flushSync"> & {
  on(event: "write", listener: (bytes: number) => void): unknown;
};

/**
 * Writes lines to an output that collects them, and makes the output write them within 100 ms. Nothing happens while no
 * line waits; pino's own option `periodicFlush` writes an empty text ten times per second in each idle process.
 */
export function writeBatched(output: Output): DestinationStream & Pick<Output, "flushSync"> {
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (waitingBytes <= 0) return;
    output.flush();
    // A flush does nothing while an earlier write is still running, so it is repeated until no line waits.
    flushLater();
  };
  const flushLater = (): void => {
    timer ??= setTimeout(flush, MAX_WAIT_MS).unref();
  };
  output.on("write", (bytes) => {
    waitingBytes -= bytes;
  });
  return {
    write: (line) => {
      waitingBytes += Buffer.byteLength(line);
      output.write(line);
      flushLater();
    },
    flushSync: () => output.flushSync(),
  };
}
