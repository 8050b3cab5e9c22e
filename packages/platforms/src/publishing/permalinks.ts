/** The form of the links to a platform's posts. */
export interface LinkForm {
  readonly hosts: readonly string[];
  /** Matches the path and query of a link to a post; the pattern's first group is the platform's id of the post. */
  readonly pattern: RegExp;
}

/**
 * Returns the platform's id of the post to which a link leads, or null when the link does not contain this id.
 *
 * @param form Undefined for a platform whose links contain another id than its API uses.
 */
export function findExternalId(form: LinkForm | undefined, link: URL): string | null {
  const host = link.hostname.replace(/^www\./, "");
  if (form === undefined || !form.hosts.includes(host)) return null;
  return form.pattern.exec(link.pathname + link.search)?.[1] ?? null;
}
