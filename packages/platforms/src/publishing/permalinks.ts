export interface LinkForm {
  readonly hosts: readonly string[];
  /** The first group is the platform's id of the post. */
  readonly pattern: RegExp;
}

/** Null when the link does not contain the id. */
export function findExternalId(form: LinkForm | undefined, link: URL): string | null {
  const host = link.hostname.replace(/^www\./, "");
  if (form === undefined || !form.hosts.includes(host)) return null;
  return form.pattern.exec(link.pathname + link.search)?.[1] ?? null;
}
