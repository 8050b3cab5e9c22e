/** An answer with a page of a list. */
type Page = Readonly<Record<string, unknown>> & { readonly nextCursor: string | null };

/** Yields the items of a list, and reads the next page when the items of the one before are used up. */
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
