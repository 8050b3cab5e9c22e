import { eventually } from "@postrider/shared/testing/poll";
import type { Answer, Api, PostRecord } from "./api.ts";

/** A post as the REST API shows it, with the fields that the tests read. */
export interface PostDetail extends PostRecord {
  readonly scheduledAt: string | null;
  readonly startedAt: string | null;
  readonly publishedAt: string | null;
  readonly queueSlotRuleId: string | null;
}

/** The body of an error response. */
interface Refusal {
  readonly error: {
    readonly code: string;
    readonly details?: readonly Readonly<Record<string, unknown>>[];
  };
}

/** A well-formed id that no resource has. */
export const UNKNOWN_ID = "01936a5e-0000-7000-8000-000000000000";

/**
 * Status, error code and detail codes of an answer in one line, for example
 * `409 nothing_to_retry outcome_unknown`.
 */
export function refusalOf({ status, body }: Answer<unknown>): string {
  const { error } = (body ?? {}) as Partial<Refusal>;
  const codes = error?.details?.map(({ code }) => String(code)) ?? [];
  return [status, error?.code, ...codes].join(" ");
}

/** The field `details` of an error response. */
export function detailsOf({ body }: Answer<unknown>): NonNullable<Refusal["error"]["details"]> {
  return (body as Partial<Refusal>).error?.details ?? [];
}

/** Returns the instant `ms` milliseconds from now, in the format of the REST API. */
export function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

export const HOUR_MS = 3_600_000;

/** Creates a post, and throws unless it is accepted. */
export async function create(
  api: Api,
  body: Readonly<Record<string, unknown>>,
): Promise<PostDetail> {
  const answer = await api.call<PostDetail>("POST", "/posts", { body });
  if (answer.status !== 202) throw new Error(`POST /posts answered ${refusalOf(answer)}`);
  return answer.body;
}

/** Waits until the post has the expected status. */
export async function whenPost(
  api: Api,
  id: string,
  status: string,
  timeoutMs?: number,
): Promise<PostDetail> {
  return await eventually(
    async () => {
      const { body } = await api.call<PostDetail>("GET", `/posts/${id}`);
      const found = body.targets.map((target) => [target.status, target.error?.code].join(" "));
      if (body.status !== status) throw new Error(`${body.status}: ${found.join(", ")}`);
      return body;
    },
    { timeoutMs },
  );
}

/** Waits until the post has the expected status on every account. */
export async function whenTargets(
  api: Api,
  id: string,
  status: string,
  timeoutMs?: number,
): Promise<PostDetail> {
  return await eventually(
    async () => {
      const { body } = await api.call<PostDetail>("GET", `/posts/${id}`);
      const statuses = body.targets.map((target) => target.status);
      if (statuses.some((each) => each !== status)) throw new Error(statuses.join(", "));
      return body;
    },
    { timeoutMs },
  );
}
