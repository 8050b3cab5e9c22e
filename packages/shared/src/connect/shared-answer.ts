import type { ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { SHARED_TYPE } from "#src/connect/exchange-sharer.ts";
import { decodeFrames, encodeFrames, type Frame } from "#src/connect/frames.ts";
import type { ReadHeader } from "#src/identity/access.ts";

interface SharedCall {
  readonly path: string;
  readonly header: ReadHeader;
  readonly body: Uint8Array;
}

/** Does not reject: the reply to a failed call is its error. */
type Perform = (
  call: SharedCall,
) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

function toCall({ text, bytes }: Frame): SharedCall {
  const [path, headers] = JSON.parse(text) as [string, Record<string, string>];
  return { path, header: (name) => headers[name], body: bytes };
}

/**
 * Performs all calls of a request at the same time, and answers each when it has ended, under its
 * position. Calls that end together, such as posts of one commit, are answered by one write.
 */
export function answerShared(response: ServerResponse, body: Uint8Array, perform: Perform): void {
  const { frames } = decodeFrames(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if (frames.length === 0) throw new ConnectError("no call was sent", Code.InvalidArgument);
  let open = frames.length;
  let ended: Frame[] = [];
  const flush = (): void => {
    const bytes = encodeFrames(ended);
    ended = [];
    if (!response.headersSent)
      response.writeHead(200, {
        "content-type": SHARED_TYPE,
        ...(open === 0 ? { "content-length": bytes.length } : {}),
      });
    if (open === 0) response.end(bytes);
    else response.write(bytes);
  };
  const end = (frame: Frame): void => {
    open -= 1;
    ended.push(frame);
    // After all calls that end in this turn.
    if (ended.length === 1) process.nextTick(flush);
  };
  for (const [index, call] of frames.map(toCall).entries())
    void perform(call).then((reply) =>
      end({ text: `${index} ${reply.status}`, bytes: reply.body }),
    );
}
