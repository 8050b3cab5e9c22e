import type { accountsEn } from "./words-en.ts";

export const accountsKo: typeof accountsEn = {
  title: "계정",
  connect: "계정 연결",
  connectTitle: "계정 연결",
  notConfigured: "운영자가 아직 이 플랫폼을 설정하지 않았습니다.",
  account: "계정",
  health: "상태",
  can: "할 수 있는 일",
  until: "접근 기한",
  limit: "하루 한도",
  works: "정상",
  partly: "일부만 가능",
  ended: "접근 권한 만료",
  nothing: "다시 연결할 때까지 아무것도 할 수 없습니다",
  features: { publishing: "게시", comments: "댓글", messages: "비공개 답장", metrics: "통계" },
  missing: (feature: string) => `${feature}: 권한 없음`,
  renews: "자동 갱신",
  forever: "만료 없음",
  over: "만료됨",
  noLimit: "한도 없음",
  today: (used: string, limit: string) => `오늘 ${limit} 중 ${used}`,
  reconnect: "다시 연결",
  reconnectRetry: (count: number) =>
    count === 0 ? "다시 연결" : `다시 연결하고 ${count}개 다시 시도`,
  cannotPublish: (name: string, platform: string) =>
    `${platform} 계정 ${name}에 더 이상 게시할 수 없습니다.`,
  failed: (count: number) => `게시물 ${count}개가 실패했습니다.`,
  willFail: (count: number) => `예약된 게시물 ${count}개도 실패하게 됩니다.`,
  more: (name: string) => `${name}의 다른 작업`,
  open: (platform: string) => `${platform} 열기`,
  disconnect: "연결 해제…",
  disconnectTitle: (name: string, platform: string) =>
    `${platform} 계정 ${name} 연결을 해제할까요?`,
  disconnectText:
    "이 계정에 예약된 게시물은 시간이 되면 실패합니다. 기록은 남으며, 같은 계정을 다시 연결하면 되살아납니다.",
  disconnectNow: "연결 해제",
  disconnected: (name: string) => `${name} 연결을 해제했습니다.`,
  foot: (accounts: number, platforms: number) =>
    `플랫폼 ${platforms}개, 계정 ${accounts}개. 연결을 해제해도 기록은 남으며, 같은 계정을 다시 연결하면 되살아납니다.`,
  none: "연결된 계정이 없습니다. 게시하려면 계정을 연결해 주세요.",
  readOnly: "이 세션에서는 계정을 볼 수만 있습니다.",
};
