/** An answer with a page of a list. */
type Page = Readonly<Record<string, unknown>> & { readonly nextCursor: string | null };

/** Yields the items of a list. Reads the next page when all items of the page before have been used. */
export async function* iterate(
  readPage: (cursor: string | undefined) => Promise<unknown>,
  field: string,
): AsyncGenerator<unknown, void> {
  let cursor: string | undefined;
  do {
    const page = (await readPage(cursor)) as Page;
    yield* page[field] as readonly unknown[];
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
