/** The secret that a caller shows: the first of a list as `INTERNAL_SECRET` holds it while it is changed. */
export function shownSecret(list: string): string {
  return list.split(",")[0]?.trim() ?? "";
}
