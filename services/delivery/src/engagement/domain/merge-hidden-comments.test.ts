import fc from "fast-check";
import { expect, test } from "vitest";
import {
  compareNewestFirst,
  FIRST_PAGE,
  formatState,
  mergeHiddenComments,
  parseState,
  rangeOfHidden,
  selectVisible,
  type CommentPosition,
  type HiddenRange,
  type ListState,
  type MergedPage,
} from "./merge-hidden-comments.ts";

interface Comment extends CommentPosition {
  readonly hidden: boolean;
}

/** Comments with few different times, so that many have the same time. */
const comments = fc
  .uniqueArray(
    fc.record({ second: fc.integer({ min: 0, max: 20 }), id: fc.nat(999), hidden: fc.boolean() }),
    { selector: ({ id }) => id, maxLength: 60 },
  )
  .map((all) =>
    all
      .map(({ second, id, hidden }) => ({
        createdAt: new Date(second * 1000),
        id: String(id).padStart(3, "0"),
        hidden,
      }))
      .toSorted(compareNewestFirst),
  );

/**
 * A platform that leaves hidden comments out of its pages; its cursor is the number of comments on
 * earlier pages.
 */
function readPage(all: readonly Comment[], after: string | undefined, limit: number) {
  const visible = all.filter(({ hidden }) => !hidden);
  const end = Number(after ?? 0) + limit;
  const next = end < visible.length ? String(end) : undefined;
  return { comments: visible.slice(Number(after ?? 0), end), next };
}

function listHidden(all: readonly Comment[], { before, after }: HiddenRange, limit: number) {
  return all
    .filter(
      (comment) =>
        comment.hidden &&
        (before === undefined || compareNewestFirst(before, comment) < 0) &&
        (after === undefined || compareNewestFirst(comment, after) < 0),
    )
    .slice(0, limit);
}

function listAll(all: readonly Comment[], limit: number): readonly (readonly Comment[])[] {
  const pages: (readonly Comment[])[] = [];
  let state: ListState | undefined = FIRST_PAGE;
  while (state !== undefined && pages.length < 1_000) {
    const page = readPage(all, state.after, limit);
    const hidden = listHidden(all, rangeOfHidden(page, state), limit + 1);
    const visible: readonly Comment[] = selectVisible(page, state);
    const merged: MergedPage<Comment, Comment> = mergeHiddenComments(visible, hidden, {
      next: page.next,
      state,
      limit,
    });
    pages.push(merged.comments);
    state = merged.next && parseState(formatState(merged.next));
  }
  return pages;
}

test("a list of comments on a platform that leaves out hidden comments contains every comment once, newest first, on pages of at most the limit", () => {
  fc.assert(
    fc.property(comments, fc.integer({ min: 1, max: 12 }), (all, limit) => {
      const pages = listAll(all, limit);
      expect(pages.flat()).toEqual(all);
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    }),
  );
});

test("a list contains a comment once if it was hidden and the platform shows it again", () => {
  const comment = { createdAt: new Date(1_000), id: "1", hidden: false };
  const { comments: merged } = mergeHiddenComments([comment], [comment], {
    next: undefined,
    state: FIRST_PAGE,
    limit: 5,
  });
  expect(merged).toEqual([comment]);
});

test("comments that are written between the requests for two pages of a list do not make an older comment appear on both pages", () => {
  const at = (second: number, hidden: boolean) => ({
    createdAt: new Date(second * 1000),
    id: String(second),
    hidden,
  });
  const first = [at(5, false), at(4, true), at(3, true), at(2, false)];
  const page = readPage(first, undefined, 2);
  const { comments: one, next } = mergeHiddenComments(
    selectVisible(page, FIRST_PAGE),
    listHidden(first, rangeOfHidden(page, FIRST_PAGE), 3),
    { next: page.next, state: FIRST_PAGE, limit: 2 },
  );
  expect(one.map(({ id }) => id)).toEqual(["5", "4"]);
  const later = [at(7, false), at(6, false), ...first];
  const state = next ?? FIRST_PAGE;
  const again = readPage(later, state.after, 2);
  const { comments: two } = mergeHiddenComments(
    selectVisible(again, state),
    listHidden(later, rangeOfHidden(again, state), 3),
    { next: again.next, state, limit: 2 },
  );
  expect(two).toEqual([]);
});
