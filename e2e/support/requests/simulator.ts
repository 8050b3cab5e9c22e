/** A published post or message that readers of a simulated platform see. */
export interface VisibleEntry {
  readonly platform: string;
  readonly account: string;
  readonly id: string;
  readonly text: string;
  readonly media: readonly object[];
  readonly createdAt: string;
  readonly createCalls: number;
  /**
   * Options of the post besides its content, under the platform's names; absent when the client
   * chose none.
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

interface SimulatedPost {
  readonly platform: string;
  /** External id or username of the account. */
  readonly account: string;
  /** Id of the post on the platform. */
  readonly id: string;
}

/** A file that readers of a simulated platform load. */
interface ReaderFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** An account on a simulated platform, and the credentials that its owner enters to connect it. */
interface IssuedAccount<T> {
  readonly username: string;
  readonly credentials: T;
}

/** A private reply that a reader of a simulated platform received. */
export interface PrivateReply {
  readonly commentId: string;
  readonly text: string;
  readonly sentAt: string;
}

/** Requests with which tests configure and query the simulator of the platforms. */
export interface SimulatorControl {
  visible(platform?: string): Promise<readonly VisibleEntry[]>;
  /** Loads the first media file of a visible post as its readers do. */
  readerFile(post: SimulatedPost): Promise<ReaderFile>;
  /** Number of publishing calls that reached a simulated platform, refused calls included. */
  publishCalls(): Promise<number>;
  /** Number of calls to simulated platforms that refresh or revoke tokens, over all accounts. */
  tokenCalls(): Promise<number>;
  addFault(rule: Readonly<Record<string, unknown>>): Promise<void>;
  clearFaults(): Promise<void>;
  liftQuotas(): Promise<void>;
  /** Lets platforms take a post that repeats another one, so that a second one is seen. */
  acceptRepeatedPosts(): Promise<void>;
  /**
   * Delays every answer of the simulated platforms until the result is disposed of. Declare the
   * result with `await using`, so that a test that fails does not slow the next ones.
   */
  delayAnswers(ms: number): Promise<AsyncDisposable>;
  /**
   * Sets whether the authorization pages of simulated platforms ask the user or approve at once.
   */
  setAuthorize(answer: "ask" | "approve"): Promise<void>;
  /** Creates an account on a simulated platform. The account is not connected to Postrider. */
  issueAccount<T = Readonly<Record<string, string>>>(platform: string): Promise<IssuedAccount<T>>;
  secrets(): Promise<readonly string[]>;
  /**
   * Lets a reader comment on a post, at the given instant or now, and returns the id of the comment
   * on the platform.
   */
  addComment(
    post: SimulatedPost,
    comment: { readonly text: string; readonly author?: string; readonly createdAt?: string },
  ): Promise<string>;
  privateReplies(platform: string, account: string): Promise<readonly PrivateReply[]>;
  /** Sets the metrics of a post; the platform may show them later. */
  setMetrics(post: SimulatedPost, values: Readonly<Record<string, number>>): Promise<void>;
  /**
   * Number of calls of an operation that the simulator has received for an account, refused calls
   * included.
   */
  countCalls(platform: string, operation: string, account: string): Promise<number>;
}

export function createSimulatorControl(simulatorUrl: string): SimulatorControl {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${simulatorUrl}/_control/${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!answer.ok)
      throw new Error(
        `${method} /_control/${path} answered ${answer.status} ${await answer.text()}`,
      );
    const text = await answer.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
  const countOf = async (operations: readonly string[]) => {
    const requests = await call<readonly { readonly operation: string }[]>("GET", "requests");
    return requests.filter(({ operation }) => operations.includes(operation)).length;
  };
  return {
    visible: (platform) =>
      call("GET", `visible?limit=100000${platform === undefined ? "" : `&platform=${platform}`}`),
    readerFile: async ({ platform, account, id }) => {
      const path = [platform, id, "media", 0].map(encodeURIComponent).join("/");
      const query = `account=${encodeURIComponent(account)}`;
      const answer = await fetch(`${simulatorUrl}/_control/visible/${path}?${query}`);
      if (!answer.ok) throw new Error(`the file of ${path} answered ${answer.status}`);
      return {
        contentType: answer.headers.get("content-type") ?? "",
        bytes: Buffer.from(await answer.arrayBuffer()),
      };
    },
    publishCalls: () => countOf(["publish", "create"]),
    tokenCalls: () => countOf(["refresh", "revoke"]),
    addFault: (rule) => call("POST", "faults", rule),
    clearFaults: () => call("DELETE", "faults"),
    liftQuotas: () => call("POST", "settings", { quotas: false }),
    acceptRepeatedPosts: () => call("POST", "settings", { repeatedPosts: "accepted" }),
    delayAnswers: async (latencyMs) => {
      await call("POST", "settings", { latencyMs });
      return { [Symbol.asyncDispose]: () => call("POST", "settings", { latencyMs: 0 }) };
    },
    setAuthorize: (authorize) => call("POST", "settings", { authorize }),
    issueAccount: async <T>(platform: string) => {
      const { accounts } = await call<{ accounts: readonly IssuedAccount<T>[] }>(
        "POST",
        "accounts",
        { platform },
      );
      if (accounts[0] === undefined) throw new Error(`${platform} issued no account`);
      return accounts[0];
    },
    secrets: () => call("GET", "secrets"),
    addComment: async ({ platform, account, id: mediaId }, comment) => {
      const body = { author: "reader", platform, account, mediaId, ...comment };
      return (await call<{ id: string }>("POST", "comments", body)).id;
    },
    privateReplies: (platform, account) =>
      call("GET", `private-replies?platform=${platform}&account=${encodeURIComponent(account)}`),
    setMetrics: ({ platform, account, id }, values) =>
      call("POST", "metrics", { platform, account, id, ...values }),
    countCalls: async (platform, operation, account) => {
      const requests = await call<readonly { operation: string; account: string | null }[]>(
        "GET",
        `requests?platform=${platform}`,
      );
      return requests.filter((each) => each.operation === operation && each.account === account)
        .length;
    },
  };
}
