import { type SimulatorOptions, startSimulator } from "#src/simulator.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A test reads any path in it without type checks. */
export interface Body {
  readonly [name: string]: Body;
}

export function itemsOf(part: Body | undefined): Body[] {
  return Array.isArray(part) ? (part as Body[]) : [];
}

export function textOf(part: unknown): string {
  if (typeof part !== "string") throw new TypeError(`not a string: ${JSON.stringify(part)}`);
  return part;
}

export interface TestAccount {
  readonly platform: string;
  readonly externalId: string;
  readonly username: string;
  readonly credentials: Readonly<Record<string, string>>;
}

interface RequestOptions {
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly parts?: FormData;
}

export class TestSimulator implements AsyncDisposable {
  readonly url: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.#stop = stop;
  }

  /**
   * The clock advances by one millisecond per reading, so that the speed of the machine changes no
   * result.
   */
  static async start(options: Partial<SimulatorOptions> = {}): Promise<TestSimulator> {
    let time = Date.now();
    const machineTime = () => (time += 1);
    const given = { host: "127.0.0.1", port: 0, machineTime, ...options };
    const simulator = await startSimulator(given);
    return new TestSimulator(simulator.url, async () => simulator[Symbol.asyncDispose]());
  }

  async call(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { token, json, form, parts } = options;
    const fields = form === undefined ? undefined : new URLSearchParams(form);
    const body = parts ?? fields ?? JSON.stringify(json);
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  }

  async control(path: string, json?: unknown): Promise<Body> {
    const method = json === undefined ? "GET" : "POST";
    const answer = await this.call(method, `/_control${path}`, json === undefined ? {} : { json });
    if (answer.status >= 400)
      throw new Error(
        `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
    return answer.body;
  }

  async account(platform: string, username?: string): Promise<TestAccount> {
    const body = await this.control("/accounts", { platform, username });
    const [account] = itemsOf(body["accounts"]) as unknown as TestAccount[];
    if (account === undefined) throw new Error("POST /_control/accounts returned no account");
    return account;
  }

  async now(): Promise<number> {
    return Date.parse(textOf((await this.control("/clock"))["now"]));
  }

  async visibleTexts(platform: string): Promise<string[]> {
    const visible = await this.control(`/visible?platform=${platform}`);
    return itemsOf(visible).map((post) => textOf(post["text"]));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return text as unknown as Body;
  }
}

/** A different nonce gives a different file. */
export function pngBytes(nonce = 0): Buffer {
  const bytes = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
    "base64",
  );
  return Buffer.concat([bytes, Buffer.from(String(nonce))]);
}

export function jpegBytes(nonce = 0, width = 1080, height = 1080): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const begin = Buffer.from("ffd8ffe000044a46ffc0000b08", "hex");
  const end = Buffer.from("01011100ffd9", "hex");
  return Buffer.concat([begin, size, end, Buffer.from(String(nonce))]);
}

export function mp4Bytes(length = 1000, nonce = 0): Buffer {
  const bytes = Buffer.alloc(length, String(nonce));
  bytes.write("\0\0\0\x18ftypmp42", "latin1");
  return bytes;
}

export function tweet(
  simulator: TestSimulator,
  account: TestAccount,
  body: unknown,
): Promise<Answer> {
  const token = account.credentials["accessToken"] ?? "";
  return simulator.call("POST", "/x/2/tweets", { token, json: body });
}

export function telegram(
  simulator: TestSimulator,
  account: TestAccount,
  method: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const path = `/telegram/bot${account.credentials["botToken"] ?? ""}/${method}`;
  const chatId = account.credentials["chatId"];
  return simulator.call("POST", path, { json: { chat_id: chatId, ...parameters } });
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
