import type { DestinationStream, pino } from "pino";

/** How long a line waits in memory. */
const MAX_WAIT_MS = 100;

type Output = Pick<ReturnType<typeof pino.destination>, "write" | "flush" | "flushSync"> & {
  on(event: "write", listener: (bytes: number) => void): unknown;
};

/**
 * pino's own `periodicFlush` writes an empty text ten times per second in each idle process; here
 * nothing happens while no line waits.
 */
export function writeBatched(output: Output): DestinationStream & Pick<Output, "flushSync"> {
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (waitingBytes <= 0) return;
    output.flush();
    // A flush does nothing while an earlier write is still running.
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
