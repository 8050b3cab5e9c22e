import { createServer } from "node:http";
import { listen, type Listening } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";

/** One HTTP request that the test receiver of webhooks got. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The body of a webhook delivery, with the fields that the tests read. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly workspaceId: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A local HTTP server that receives webhook deliveries. */
export interface Receiver extends Listening {
  readonly requests: readonly ReceivedRequest[];
  /**
   * Sets the HTTP status, the body and the headers with which the receiver answers requests to this
   * path; before, and for every other path, it is 200 without a body.
   */
  answer(
    path: string,
    status: number,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /**
   * Sets how many milliseconds after its arrival a request to this path is answered; before, and
   * for every other path, it is 0.
   */
  delay(path: string, ms: number): void;
  /** Webhook events that arrived at a path of the test receiver, in the order of their arrival. */
  eventsAt(path: string): readonly ReceivedEvent[];
  /** Waits until a webhook event of this type has arrived at a path, and returns it. */
  whenEvent(path: string, type: string): Promise<ReceivedEvent>;
}

interface Given {
  readonly status: number;
  readonly body: string;
  readonly given: Readonly<Record<string, string>>;
}

/** Starts a receiver of webhooks on the given port, or on a free one. */
export async function startReceiver(listenOn = 0): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const answers = new Map<string, Given>();
  const delays = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const headers = request.headers as Record<string, string>;
      requests.push({ path, headers, body: Buffer.concat(chunks).toString("utf8") });
      const { status, body, given } = answers.get(path) ?? { status: 200, body: "", given: {} };
      const answer = () => response.writeHead(status, { ...given }).end(body);
      const delayMs = delays.get(path);
      if (delayMs === undefined) answer();
      else setTimeout(answer, delayMs);
    });
  });
  const listening = await listen(server, listenOn);
  const eventsAt = (path: string) =>
    requests
      .filter((request) => request.path === path)
      .map(({ body }) => JSON.parse(body) as ReceivedEvent);
  return {
    ...listening,
    requests,
    answer: (path, status, body = "", given = {}) =>
      void answers.set(path, { status, body, given }),
    delay: (path, ms) => void delays.set(path, ms),
    eventsAt,
    whenEvent: (path, type) =>
      eventually(() => {
        const event = eventsAt(path).find((each) => each.type === type);
        if (event === undefined) throw new Error(`${type} has not arrived at ${path}`);
        return Promise.resolve(event);
      }),
  };
}
