import type { PostDetail } from "../gen/openapi.ts";
import { GET_POST_WAITS, type Operations } from "../gen/operations.ts";
import { PostriderError, PostWaitTimeoutError } from "./errors.ts";
import type { RequestOptions } from "./operation-types.ts";
import { pause } from "./repeat.ts";

export interface WaitOptions extends RequestOptions {
  /** Default: 2 minutes. */
  readonly timeoutMs?: number | undefined;
  /** Called with each reading, for example to show the progress of the targets. */
  readonly onUpdate?: ((post: PostDetail) => void) | undefined;
  /** Maximum interval between readings. Default: 5 s. */
  readonly maxIntervalMs?: number | undefined;
}

const TIMEOUT_MS = 120_000;
/** The interval grows with each reading, up to a maximum. */
const FIRST_INTERVAL_MS = 200;
const MAX_INTERVAL_MS = 5_000;
/** Before its scheduled time, because a post can be rescheduled or published early. */
const MAX_SCHEDULED_INTERVAL_MS = 60_000;
const GROWTH = 1.5;
/** Maximum time for which the server may delay its answer until the post is final. */
const MAX_HELD_SECONDS = 30;
const FINAL: ReadonlySet<string> = new Set(["published", "partial", "failed", "cancelled"]);

/** The server may delay its answer for up to `waitMs`, until the post is final. */
type ReadPost = (id: string, waitMs: number, options: RequestOptions) => Promise<PostDetail>;

function createReader(getPost: Operations["getPost"], serverWaits: boolean): ReadPost {
  let waits = serverWaits;
  return async (id, waitMs, options) => {
    const seconds = Math.min(MAX_HELD_SECONDS, Math.floor(waitMs / 1000));
    if (!waits || seconds < 1) return await getPost(id, {}, options);
    const query = { waitFor: "final", timeoutSeconds: seconds } as const;
    try {
      const timeoutMs = (seconds + MAX_HELD_SECONDS) * 1000;
      return await getPost(id, query, { ...options, timeoutMs });
    } catch (error) {
      // A server of an older version refuses the parameters that it does not know.
      if (!(error instanceof PostriderError) || error.status !== 400) throw error;
      waits = false;
      return await getPost(id, {}, options);
    }
  };
}

/** Returns the time from the beginning of one read to the beginning of the next. */
function intervalOf({ status, scheduledAt }: PostDetail, readings: number, maxMs: number): number {
  const growing = Math.min(maxMs, FIRST_INTERVAL_MS * GROWTH ** readings);
  if (status !== "scheduled" || scheduledAt === null) return growing;
  const untilDueMs = Date.parse(scheduledAt) - Date.now();
  return Math.max(growing, Math.min(MAX_SCHEDULED_INTERVAL_MS, untilDueMs));
}

/** @throws PostWaitTimeoutError With the post as it was last read. */
export async function waitForPost(
  getPost: Operations["getPost"],
  id: string,
  {
    timeoutMs = TIMEOUT_MS,
    maxIntervalMs = MAX_INTERVAL_MS,
    onUpdate,
    ...options
  }: WaitOptions = {},
  serverWaits = GET_POST_WAITS,
): Promise<PostDetail> {
  const deadline = Date.now() + timeoutMs;
  // With `onUpdate`, the server must not delay its answer, because the caller would then see no
  // progress of the targets.
  const read = createReader(getPost, serverWaits && onUpdate === undefined);
  for (let readings = 0; ; readings += 1) {
    const readAt = Date.now();
    const post = await read(id, deadline - readAt, options);
    onUpdate?.(post);
    if (FINAL.has(post.status)) return post;
    const now = Date.now();
    if (now >= deadline) throw new PostWaitTimeoutError(post, timeoutMs);
    const nextAt = Math.max(now, readAt + intervalOf(post, readings, maxIntervalMs));
    await pause(Math.min(nextAt, deadline) - now, options.signal);
  }
}
