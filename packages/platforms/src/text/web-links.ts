import { isTopLevelDomain, type TextRange } from "#src/text/domains.ts";

export interface WebLink extends TextRange {
  readonly uri: string;
  /** Whether the text names the protocol; a bare domain leads to its https address. */
  readonly hasProtocol: boolean;
}

/**
 * Matches what can be a link: it follows white space or a parenthesis, and ends before white space.
 */
const CANDIDATE = /(?<=^|\s|\()(?:(https?:\/\/)\S+|([a-z][a-z0-9]*(?:\.[a-z0-9]+)+)\S*)/gi;
const END = /[.,;:!?]$/;

/**
 * Finds the links in a text as Bluesky's own clients do: with `http://` or `https://`, everything
 * up to the next white space, without one punctuation mark at the end and without a closing
 * parenthesis that was not opened; without protocol, only a domain name that ends in a known
 * top-level domain. Unlike there, the protocol and the domain may have capitals, as a telephone
 * writes them at the begin of a sentence.
 *
 * Source: atproto, `packages/api/src/rich-text/detection.ts`, 2026-08-20.
 */
export function findWebLinks(text: string): WebLink[] {
  return [...text.matchAll(CANDIDATE)].flatMap((match): WebLink[] => {
    const [whole, protocol, domain = ""] = match;
    const hasProtocol = protocol !== undefined;
    const topLevel = domain.slice(domain.lastIndexOf(".") + 1).toLowerCase();
    if (!hasProtocol && !isTopLevelDomain(topLevel)) return [];
    const link = withoutEnd(whole);
    const uri = hasProtocol ? link : `https://${link}`;
    return [{ start: match.index, end: match.index + link.length, uri, hasProtocol }];
  });
}

function withoutEnd(link: string): string {
  const kept = END.test(link) ? link.slice(0, -1) : link;
  return kept.endsWith(")") && !kept.includes("(") ? kept.slice(0, -1) : kept;
}
