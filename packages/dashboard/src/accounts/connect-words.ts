/** Words of connecting an account, wherever it is begun. */
export const connectEn = {
  title: (platform: string) => `Connect an account of ${platform}`,
  again: (platform: string, name: string) => `Connect ${name} on ${platform} again`,
  handle: "Handle",
  handleHint: "For example spree-cycles.bsky.social",
  appPassword: "App password",
  appPasswordHint:
    "Made at Bluesky in Settings, Privacy and security, App passwords. Never your main password.",
  chat: "Chat",
  chatHint: "The @name of the channel or group, or its number.",
  botToken: "Bot token",
  botTokenHint:
    "From @BotFather. The bot has to be an administrator of the chat with the right to post.",
  connect: "Connect",
  connectAgain: "Connect again",
  missing: "This is needed.",
  connected: (name: string) => `${name} is connected.`,
  kept: "What you enter is sent once and stored encrypted; it is not kept in this browser.",
};

const connectKo: typeof connectEn = {
  title: (platform) => `${platform} 계정 연결`,
  again: (platform, name) => `${platform} ${name} 다시 연결`,
  handle: "핸들",
  handleHint: "예: spree-cycles.bsky.social",
  appPassword: "앱 비밀번호",
  appPasswordHint:
    "Bluesky의 설정, 개인정보와 보안, 앱 비밀번호에서 만듭니다. 계정 비밀번호는 넣지 마세요.",
  chat: "채팅방",
  chatHint: "채널이나 그룹의 @이름 또는 번호입니다.",
  botToken: "봇 토큰",
  botTokenHint: "@BotFather에서 받습니다. 봇은 메시지를 올릴 수 있는 채팅방 관리자여야 합니다.",
  connect: "연결",
  connectAgain: "다시 연결",
  missing: "꼭 필요합니다.",
  connected: (name) => `${name} 계정을 연결했습니다.`,
  kept: "입력한 내용은 한 번만 보내고 암호화해 저장합니다. 이 브라우저에는 남지 않습니다.",
};

export const connectWords = { en: connectEn, ko: connectKo };
