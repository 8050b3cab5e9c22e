import type { startEn } from "./words-en.ts";

export const startKo: typeof startEn = {
  title: "시작",
  heading: "첫 게시물까지 세 단계",
  hint: "한 번 작성해 여러 계정에 게시하고, 계정마다 결과를 확인할 수 있습니다.",
  ready: "워크스페이스가 준비되었습니다",
  readyHint: (publications) => `인증됨, 한 달에 ${publications}건 게시할 수 있습니다.`,
  notVerified: "워크스페이스가 아직 인증되지 않았습니다",
  notVerifiedHint:
    "초안은 쓸 수 있지만 게시는 아직 할 수 없습니다. 운영자가 postrider workspace verify 명령으로 인증합니다.",
  connect: "계정 연결",
  connectHint: "플랫폼에서 직접 승인합니다. Postrider는 비밀번호를 볼 수 없습니다.",
  connected: (names) => `연결됨: ${names}`,
  another: "다른 계정 연결",
  ways: {
    instagram: "Instagram 또는 Facebook에서 승인",
    x: "X에서 승인",
    facebook: "관리하는 페이지",
    tiktok: "TikTok에서 승인",
    youtube: "Google에서 승인",
    telegram: "봇 토큰과 채팅방",
    bluesky: "앱 비밀번호",
  },
  notSetUp: "이 서버에 설정되어 있지 않음",
  notAllowed: "이 세션으로는 계정을 연결할 수 없습니다.",
  write: "첫 게시물 작성",
  writeHint:
    "지금, 시각을 정해, 또는 예약 슬롯에 게시합니다. 계정을 연결하기 전에도 초안을 쓸 수 있습니다.",
  begin: "초안 쓰기",
  writeFirst: "작성하기",
  rely: "믿으셔도 되는 것",
  promises: {
    lost: ["접수된 것은 사라지지 않습니다.", "서버가 멈추거나 탭을 닫아도 그대로입니다."],
    twice: ["두 번 게시되지 않습니다.", "응답을 받지 못하면 다시 보내기 전에 먼저 확인합니다."],
    why: ["이유를 알 수 있습니다.", "계정마다 상태와 원인, 다음에 할 일이 있습니다."],
  },
  byProgram: "프로그램으로 쓰시겠어요?",
  makeKey: "API 키 만들기",
  readDocs: "문서 읽기",
};
