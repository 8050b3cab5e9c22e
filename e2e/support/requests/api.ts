/** Objects that the REST API returns, with the fields that the tests read. */
export interface TargetRecord {
  readonly id: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
  } | null;
  readonly attemptCount: number;
}

export interface PostRecord {
  readonly id: string;
  readonly status: string;
  readonly content: string;
  readonly targets: readonly TargetRecord[];
  readonly media: readonly object[];
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** A client of the REST API with one API key. */
export interface Api {
  call<T = unknown>(
    method: string,
    path: string,
    options?: {
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      /**
       * Maximum wait for the answer in ms; without it, the time limit of the gateway ends the
       * request.
       */
      readonly timeoutMs?: number;
    },
  ): Promise<Answer<T>>;
  /**
   * Creates a post. If no answer arrives or the answer is a 503, it repeats the request with the
   * same idempotency key.
   */
  createPost(content: string, accountIds: readonly string[]): Promise<PostRecord>;
  getPost(id: string): Promise<PostRecord>;
}

const RETRY_EVERY_MS = 100;

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

export function createApi(baseUrl: string, apiKey: string): Api {
  const call = async <T>(
    method: string,
    path: string,
    options: Parameters<Api["call"]>[2] = {},
  ): Promise<Answer<T>> => {
    const answer = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.timeoutMs === undefined
        ? {}
        : { signal: AbortSignal.timeout(options.timeoutMs) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: (text === "" ? undefined : JSON.parse(text)) as T,
    };
  };

  const createPost: Api["createPost"] = async (content, accountIds) => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    for (;;) {
      try {
        const answer = await call<PostRecord>("POST", "/posts", {
          body: { content, accountIds },
          headers,
        });
        if (answer.status === 202) return answer.body;
        if (answer.status < 500 && answer.status !== 409 && answer.status !== 429)
          throw new TypeError(
            `POST /posts answered ${answer.status} ${JSON.stringify(answer.body)}`,
          );
      } catch (error) {
        // The message of the TypeError for a refused request begins with `POST /posts`. Any other
        // TypeError comes from `fetch` and means that the connection broke, so the request is sent
        // again.
        if (error instanceof TypeError && error.message.startsWith("POST /posts")) throw error;
      }
      await pause(RETRY_EVERY_MS);
    }
  };

  const getPost: Api["getPost"] = async (id) => {
    const answer = await call<PostRecord>("GET", `/posts/${id}`);
    if (answer.status !== 200) throw new Error(`GET /posts/${id} answered ${answer.status}`);
    return answer.body;
  };

  return { call, createPost, getPost };
}
