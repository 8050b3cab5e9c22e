import type {
  OwnedMedia,
  OwnedMediaPage,
  PrivateRepliesConnector,
} from "@postrider/platforms/private-replies/connector";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import { type PollCalls, toPollFailure } from "./poll.ts";

const MEDIA_PER_CALL = 50;
/** Kept for reading comments: older media are listed only while more units are left. */
const KEPT_UNITS = 20;

interface ListedMedia {
  readonly kind: "listed";
  readonly media: readonly OwnedMedia[];
  readonly mediaCursor: string | null;
}

/**
 * Lists the media whose numbers of comments a poll compares: the newest media of the account and,
 * while the call budget of the account allows it, the next part of the older media. If every
 * automation rule names its media, only the named media are listed.
 */
export async function listAccountMedia(
  calls: PollCalls,
  connector: PrivateRepliesConnector,
  rules: readonly AutomationRule[],
  { mediaCursor, isTurnOfOthers }: Pick<Turn, "mediaCursor" | "isTurnOfOthers">,
) {
  const named = namedBy(rules);
  if (named?.length === 1) return toListed(await readNamed(calls, connector, named));
  const newest = await listPage(calls, connector, undefined);
  if (newest.kind !== "media") return newest;
  return await addOlder(calls, connector, { newest, named, mediaCursor, isTurnOfOthers });
}

interface Turn {
  readonly newest: OwnedMediaPage;
  readonly named: readonly string[] | undefined;
  readonly mediaCursor: string | null;
  /** Whether they are listed although few units are left. */
  readonly isTurnOfOthers: boolean;
}

/** If there are older ones and the call budget allows it. */
async function addOlder(
  calls: PollCalls,
  connector: PrivateRepliesConnector,
  { newest, named, mediaCursor, isTurnOfOthers }: Turn,
) {
  const listed = new Set(newest.media.map(({ id }) => id));
  const unlisted = named?.filter((id) => !listed.has(id));
  const hasOlder = unlisted === undefined ? newest.next !== undefined : unlisted.length > 0;
  if (!hasOlder) return toListed({ ...newest, next: undefined });
  const { unitsPerPage } = connector.pollBudget;
  const units = calls.unitsLeft - (isTurnOfOthers ? unitsPerPage : KEPT_UNITS);
  if (units <= 0) return toListed({ ...newest, next: mediaCursor ?? undefined });
  const older = await (unlisted === undefined
    ? listPage(calls, connector, mediaCursor ?? newest.next)
    : readInTurn(calls, connector, { ids: unlisted, after: mediaCursor, units }));
  return withOlder(newest, older);
}

function namedBy(rules: readonly AutomationRule[]): readonly string[] | undefined {
  if (rules.some(({ mediaIds }) => mediaIds === null)) return undefined;
  return [...new Set(rules.flatMap(({ mediaIds }) => mediaIds ?? []))].toSorted();
}

/**
 * Adds older media to the newest ones. If the older ones cannot be read, for example because the
 * platform refuses a cursor that has become too old, the newest ones are still returned, and the
 * next poll starts at the first of the older ones.
 */
function withOlder(newest: OwnedMediaPage, older: Answer) {
  if (older.kind === "media")
    return toListed({ ...older, media: [...newest.media, ...older.media] });
  return isOfAccount(older) ? older : toListed({ ...newest, next: undefined });
}

type Answer = Awaited<ReturnType<typeof listPage>>;

/** Whether further calls for the account would fail too. */
function isOfAccount(answer: Exclude<Answer, { kind: "media" }>): boolean {
  if (answer.kind === "lost" || answer.kind === "unavailable") return true;
  if (answer.kind === "exhausted") return false;
  return answer.kind !== "refused" && toPollFailure(answer).cause !== "failed";
}

async function listPage(
  calls: PollCalls,
  connector: PrivateRepliesConnector,
  after: string | undefined,
) {
  return await calls.make(1, (access, signal) =>
    connector.listMedia(access, { limit: MEDIA_PER_CALL, after }, signal),
  );
}

/** Each id uses a unit of the call budget, as platforms count it. */
async function readNamed(
  calls: PollCalls,
  connector: PrivateRepliesConnector,
  ids: readonly string[],
) {
  return await calls.make(ids.length, (access, signal) => connector.readMedia(access, ids, signal));
}

async function readInTurn(
  calls: PollCalls,
  connector: PrivateRepliesConnector,
  turn: { readonly ids: readonly string[]; readonly after: string | null; readonly units: number },
) {
  const { ids, after, units } = turn;
  const from = ids.findIndex((id) => after === null || id > after);
  const start = Math.max(0, from);
  const part = ids.slice(start, start + Math.min(MEDIA_PER_CALL, units));
  const read = await readNamed(calls, connector, part);
  if (read.kind !== "media") return read;
  const hasMore = start + part.length < ids.length;
  return { ...read, next: hasMore ? part.at(-1) : undefined };
}

function toListed<T extends Answer>(answer: T): Exclude<T, { kind: "media" }> | ListedMedia;
function toListed(answer: Answer): Exclude<Answer, { kind: "media" }> | ListedMedia {
  if (answer.kind !== "media") return answer;
  const byId = new Map(answer.media.map((each) => [each.id, each]));
  return { kind: "listed", media: [...byId.values()], mediaCursor: answer.next ?? null };
}
