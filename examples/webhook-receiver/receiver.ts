import { createServer, type IncomingMessage } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

/** A request with a larger body is refused before it is read to the end. */
const MAX_BODY_BYTES = 1024 * 1024;

const { WEBHOOK_SECRET: secret = "", PORT: port = "9000" } = process.env;
const webhook = new Webhook(secret);

/**
 * Ids of the events that were handled. Postrider sends an event again until it gets a 2xx answer,
 * so an event can arrive twice. A real receiver keeps the ids in its database, in the transaction
 * that handles the event.
 */
const handled = new Set<string>();

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
}).listen(Number(port), "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});

/** Verifies and handles one webhook delivery, and returns the HTTP status of the answer. */
async function receive(request: IncomingMessage): Promise<number> {
  const body = await readBody(request);
  if (body === undefined) return 413;
  // The signature covers the bytes of the body, so they are verified before they are parsed.
  if (!isAuthentic(body, request)) return 401;
  const event = JSON.parse(body) as { readonly id: string; readonly type: string };
  if (handled.has(event.id)) return 200;
  handled.add(event.id);
  process.stdout.write(`${event.type} ${event.id}\n`);
  return 200;
}

function isAuthentic(body: string, { headers }: IncomingMessage): boolean {
  try {
    webhook.verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
