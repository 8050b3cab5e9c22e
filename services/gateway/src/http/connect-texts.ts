import type { Locale } from "@postrider/rest/locale";

export const CONNECT_PAGES = [
  "open",
  "connected",
  "unknown",
  "used",
  "expired",
  "other_browser",
  "denied",
  "refused",
  "permission_missing",
  "no_account",
  "unavailable",
] as const;

export type ConnectPage = (typeof CONNECT_PAGES)[number];

/** Texts of a connect page. The placeholders `{platform}` and `{workspace}` are replaced. */
export interface ConnectText {
  readonly title: string;
  readonly text: string;
}

interface Texts extends Readonly<Record<ConnectPage, ConnectText>> {
  readonly button: string;
  /** Says which features the connected accounts lack. The placeholder `{features}` is replaced. */
  readonly missing: string;
  readonly features: Readonly<Record<string, string>>;
  /** Names Postrider's guide for the platform. `{guide}` is replaced. */
  readonly guide: string;
  /** Last line of every connect page that shows how the authorization ended. */
  readonly close: string;
  /** The link that replaces the last line if the dashboard asked for the connect link. */
  readonly back: string;
}

const ASK_AGAIN_EN = "Ask for a new link and start again.";
const ASK_AGAIN_KO = "새 링크를 받아 다시 시작해 주세요.";

export const CONNECT_TEXTS: Readonly<Record<Locale, Texts>> = {
  en: {
    open: {
      title: "Connect {platform}",
      text: "Postrider will publish to your {platform} account for the workspace “{workspace}”. You approve this at {platform}; Postrider never sees your password.",
    },
    connected: {
      title: "Connected",
      text: "Postrider can now publish to:",
    },
    unknown: {
      title: "This link does not work",
      text: `It may have been cut off. ${ASK_AGAIN_EN}`,
    },
    used: {
      title: "This link has been used",
      text: `A link works once. If the account is not connected yet: ${ASK_AGAIN_EN.toLowerCase()}`,
    },
    expired: {
      title: "This link has expired",
      text: `A link works for 10 minutes. ${ASK_AGAIN_EN}`,
    },
    other_browser: {
      title: "This is another browser",
      text: "The approval has to end in the browser in which the link was opened, with cookies allowed. Nothing was connected.",
    },
    denied: {
      title: "Nothing was connected",
      text: `{platform} says that the approval was not given. ${ASK_AGAIN_EN}`,
    },
    refused: {
      title: "Nothing was connected",
      text: `{platform} did not accept the approval. ${ASK_AGAIN_EN}`,
    },
    permission_missing: {
      title: "Nothing was connected",
      text: `Publishing to {platform} needs permissions that were not granted. ${ASK_AGAIN_EN} Leave all of these selected:`,
    },
    no_account: {
      title: "There is no account to publish to",
      text: `The approval covers no account of {platform} that can publish, for example no Page or no channel. ${ASK_AGAIN_EN}`,
    },
    unavailable: {
      title: "That did not work",
      text: `Something did not answer in time. ${ASK_AGAIN_EN}`,
    },
    button: "Continue to {platform}",
    missing:
      "Permission is missing for: {features}. To use this too, connect again and leave all permissions selected.",
    features: {
      publishing: "publishing",
      comments: "comments",
      messages: "private replies",
      metrics: "metrics",
    },
    guide: "For the operator of this installation: the causes, and what to do, are in {guide}.",
    close: "You can close this page.",
    back: "Back to Postrider",
  },
  ko: {
    open: {
      title: "{platform} 연결",
      text: "Postrider가 워크스페이스 “{workspace}”를 위해 {platform} 계정에 게시합니다. 승인은 {platform}에서 이루어지며 Postrider는 비밀번호를 알 수 없습니다.",
    },
    connected: {
      title: "연결되었습니다",
      text: "이제 Postrider가 다음 계정에 게시할 수 있습니다.",
    },
    unknown: {
      title: "사용할 수 없는 링크입니다",
      text: `주소가 잘렸을 수 있습니다. ${ASK_AGAIN_KO}`,
    },
    used: {
      title: "이미 사용된 링크입니다",
      text: `링크는 한 번만 사용할 수 있습니다. 계정이 아직 연결되지 않았다면 ${ASK_AGAIN_KO}`,
    },
    expired: {
      title: "만료된 링크입니다",
      text: `링크는 10분 동안 사용할 수 있습니다. ${ASK_AGAIN_KO}`,
    },
    other_browser: {
      title: "다른 브라우저입니다",
      text: "링크를 연 브라우저에서, 쿠키를 허용한 상태로 승인을 마쳐야 합니다. 연결된 계정은 없습니다.",
    },
    denied: {
      title: "연결되지 않았습니다",
      text: `{platform}에서 승인되지 않았습니다. ${ASK_AGAIN_KO}`,
    },
    refused: {
      title: "연결되지 않았습니다",
      text: `{platform}에서 승인을 받아들이지 않았습니다. ${ASK_AGAIN_KO}`,
    },
    permission_missing: {
      title: "연결되지 않았습니다",
      text: `{platform}에 게시하는 데 필요한 권한이 허용되지 않았습니다. ${ASK_AGAIN_KO} 다음 권한을 모두 선택한 상태로 두세요.`,
    },
    no_account: {
      title: "게시할 수 있는 계정이 없습니다",
      text: `승인한 범위에 게시할 수 있는 {platform} 계정(예: 페이지, 채널)이 없습니다. ${ASK_AGAIN_KO}`,
    },
    unavailable: {
      title: "처리하지 못했습니다",
      text: `제시간에 응답을 받지 못했습니다. ${ASK_AGAIN_KO}`,
    },
    button: "{platform}(으)로 계속",
    missing:
      "다음 기능의 권한이 없습니다: {features}. 사용하려면 모든 권한을 선택한 상태로 다시 연결해 주세요.",
    features: {
      publishing: "게시",
      comments: "댓글",
      messages: "비공개 답장",
      metrics: "통계",
    },
    guide: "설치 운영자용: 원인과 해결 방법은 {guide}에 있습니다.",
    close: "이 페이지를 닫아도 됩니다.",
    back: "Postrider로 돌아가기",
  },
};

/**
 * Returns the connect page for what the accounts service reports about an authorization; the page
 * `unavailable` for a word that the gateway does not know.
 */
export function toConnectPage(outcome: string): ConnectPage {
  if (outcome === "unknown_state") return "unknown";
  return CONNECT_PAGES.find((page) => page === outcome) ?? "unavailable";
}
