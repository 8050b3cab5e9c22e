/** Newest first: by time, then by id. */
export interface CommentPosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface ListState {
  /** Undefined for the platform's first page. */
  readonly after: string | undefined;
  /** The last comment on the previous page; undefined for the first page. */
  readonly before: CommentPosition | undefined;
  /** Whether earlier pages contained a part of the platform's page that is read next. */
  readonly isResumed: boolean;
}

export const FIRST_PAGE: ListState = { after: undefined, before: undefined, isResumed: false };

export function formatState({ after, before, isResumed }: ListState): string {
  const position = before === undefined ? null : [before.createdAt.getTime(), before.id];
  return JSON.stringify([after ?? null, position, isResumed]);
}

export function parseState(text: string): ListState {
  type Parts = [after: string | null, position: [number, string] | null, isResumed: boolean];
  const [after, position, isResumed] = JSON.parse(text) as Parts;
  const before =
    position === null ? undefined : { createdAt: new Date(position[0]), id: position[1] };
  return { after: after ?? undefined, before, isResumed };
}

interface VisiblePage<C extends CommentPosition> {
  readonly comments: readonly C[];
  readonly next: string | undefined;
}

/** Both positions are excluded. An undefined position does not limit the range. */
export interface HiddenRange {
  readonly before: CommentPosition | undefined;
  readonly after: CommentPosition | undefined;
}

export function compareNewestFirst(a: CommentPosition, b: CommentPosition): number {
  const difference = b.createdAt.getTime() - a.createdAt.getTime();
  if (difference !== 0 || a.id === b.id) return difference;
  return a.id < b.id ? 1 : -1;
}

/** The comments of the platform's page that belong to the next page, newest first. */
export function selectVisible<C extends CommentPosition>(
  { comments }: VisiblePage<C>,
  { before, isResumed }: ListState,
): readonly C[] {
  const isNew = (comment: C) =>
    !isResumed || before === undefined || compareNewestFirst(before, comment) < 0;
  return comments.filter(isNew).toSorted(compareNewestFirst);
}

export function rangeOfHidden<C extends CommentPosition>(
  { comments, next }: VisiblePage<C>,
  { before }: ListState,
): HiddenRange {
  if (next === undefined) return { before, after: undefined };
  return { before, after: comments.toSorted(compareNewestFirst).at(-1) ?? before };
}

export interface MergedPage<C, H> {
  readonly comments: readonly (C | H)[];
  /** Where the next page continues; undefined on the last page. */
  readonly next: ListState | undefined;
}

/**
 * Puts the hidden comments between the visible ones and cuts the page off after `limit` comments.
 * Over all pages of the list, no comment is missing or returned twice.
 *
 * @param hidden The newest hidden comments of the range, at least `limit + 1` if there are more.
 */
export function mergeHiddenComments<C extends CommentPosition, H extends CommentPosition>(
  visible: readonly C[],
  hidden: readonly H[],
  {
    next,
    state,
    limit,
  }: { readonly limit: number; readonly state: ListState } & Pick<VisiblePage<C>, "next">,
): MergedPage<C, H> {
  const shown = new Set(visible.map(({ id }) => id));
  const missing = hidden.filter(({ id }) => !shown.has(id));
  const merged = [...visible, ...missing].toSorted(compareNewestFirst);
  const comments = merged.slice(0, limit);
  const last = comments.at(-1);
  const before = last === undefined ? state.before : { createdAt: last.createdAt, id: last.id };
  if (merged.length > limit)
    return { comments, next: { after: state.after, before, isResumed: true } };
  if (next === undefined) return { comments, next: undefined };
  return { comments, next: { after: next, before, isResumed: false } };
}
