import { createHash } from "node:crypto";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { Locale } from "@postrider/rest/locale";
import { CONNECT_TEXTS, type ConnectPage } from "#src/http/connect-texts.ts";

/** The contents of a connect page. Texts are escaped when the page is rendered. */
export interface PageContent {
  readonly page: ConnectPage;
  readonly locale: Locale;
  readonly platform?: string;
  readonly workspace?: string;
  /**
   * The names that the page shows: those of the accounts that the authorization connected, or of
   * the permissions that it lacks.
   */
  readonly names?: readonly string[];
  /** The features that the connected accounts lack. */
  readonly missing?: readonly string[];
  /** Address of the dashboard's page to which a link leads. */
  readonly back?: string | undefined;
}

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 26rem; padding: 2rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
ul { padding-left: 1.25rem; }
li { overflow-wrap: anywhere; }
button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #1d4ed8; color: #fff; cursor: pointer; }
small { opacity: .7; }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * Returns the content security policy of a connect page. It allows one inline style, and no script,
 * image or other host.
 *
 * @param formOrigin The origin to which submitting the form redirects the browser, because the
 *   policy restricts redirects as well. Platforms redirect to further hosts of their own, therefore
 *   any https origin is allowed in addition.
 */
export function toPolicy(formOrigin: string | undefined): string {
  const form = formOrigin === undefined ? "'none'" : `'self' https: ${formOrigin}`;
  return [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${form}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/**
 * Connect pages that appear when a setting of the account, or of the operator's app on the
 * platform, may have ended the authorization. They name Postrider's guide for the platform.
 */
const PAGES_WITH_GUIDE: ReadonlySet<ConnectPage> = new Set([
  "denied",
  "refused",
  "permission_missing",
  "no_account",
]);

function guideOf(page: ConnectPage, platform: string): string {
  const isNamed = PAGES_WITH_GUIDE.has(page) && isPlatformId(platform);
  return isNamed ? `docs/platforms/${platform}.md` : "";
}

function nameOf(platform: string): string {
  return isPlatformId(platform) ? PLATFORM_FACTS[platform].rules.displayName : "Postrider";
}

export function renderPage({
  page,
  locale,
  platform = "",
  workspace = "",
  names = [],
  missing = [],
  back,
}: PageContent): string {
  const texts = CONNECT_TEXTS[locale];
  const features = missing.map((feature) => texts.features[feature] ?? feature).join(", ");
  const values: Readonly<Record<string, string>> = {
    platform: nameOf(platform),
    workspace,
    features,
    guide: guideOf(page, platform),
  };
  const fill = (template: string): string =>
    escape(template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ""));
  const title = fill(texts[page].title);
  const list = names.map((name) => `<li>${escape(name)}</li>`).join("");
  const last =
    back === undefined
      ? `<small>${fill(texts.close)}</small>`
      : `<a href="${escape(back)}">${fill(texts.back)}</a>`;
  const end =
    page === "open"
      ? `<form method="post"><button>${fill(texts.button)}</button></form>`
      : `<p>${last}</p>`;
  return [
    "<!doctype html>",
    `<html lang="${locale}"><head><meta charset="utf-8"><title>${title} · Postrider</title>`,
    `<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`,
    `<style>${STYLE}</style></head>`,
    `<body><main data-page="${page}"><h1>${title}</h1><p>${fill(texts[page].text)}</p>`,
    list === "" ? "" : `<ul>${list}</ul>`,
    features === "" ? "" : `<p>${fill(texts.missing)}</p>`,
    values.guide === "" ? "" : `<p><small>${fill(texts.guide)}</small></p>`,
    `${end}</main></body></html>`,
  ].join("\n");
}
