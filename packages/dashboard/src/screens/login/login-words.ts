const loginEn = {
  tab: "Log in",
  open: "Open your workspace",
  once: "This link is good for one login, within 10 minutes after it was made.",
  logIn: "Log in",
  madeWith: (command: string) =>
    `The link was made on the installation with ${command}. Logging in uses it up.`,
  withKey: "Log in with an API key",
  withKeyInstead: "Log in with an API key instead",
  key: "API key",
  keyHint:
    "Sent once and exchanged for a session. It is not kept in this browser, and the session ends when the key does.",
  workspace: "Workspace",
  workspaceHint: "This key belongs to several workspaces: enter the id of the one to open.",
  logInWithKey: "Log in with the key",
  byLink: (command: string) =>
    `Or open a login link. It is made on the installation with ${command}.`,
  spent: "This link has been used or is older than 10 minutes.",
  makeNew: (command: string) => `Make a new one on the installation: ${command}`,
  wrongKey: "This key is not valid.",
  wrongKeyHint: "It may have been revoked or have expired. Check that it was copied whole.",
  docs: "docs",
};

const loginKo: typeof loginEn = {
  tab: "로그인",
  open: "워크스페이스 열기",
  once: "이 링크는 만든 뒤 10분 안에 한 번만 로그인할 수 있습니다.",
  logIn: "로그인",
  madeWith: (command) =>
    `이 링크는 설치된 서버에서 ${command} 명령으로 만들었습니다. 로그인하면 다시 쓸 수 없습니다.`,
  withKey: "API 키로 로그인",
  withKeyInstead: "대신 API 키로 로그인",
  key: "API 키",
  keyHint:
    "한 번만 보내 세션으로 바꿉니다. 이 브라우저에 저장하지 않으며, 키가 끝나면 세션도 끝납니다.",
  workspace: "워크스페이스",
  workspaceHint: "이 키는 여러 워크스페이스에 속합니다. 열 워크스페이스의 ID를 입력해 주세요.",
  logInWithKey: "키로 로그인",
  byLink: (command) => `또는 로그인 링크를 여세요. 설치된 서버에서 ${command} 명령으로 만듭니다.`,
  spent: "이미 사용했거나 10분이 지난 링크입니다.",
  makeNew: (command) => `설치된 서버에서 새 링크를 만들어 주세요: ${command}`,
  wrongKey: "유효하지 않은 키입니다.",
  wrongKeyHint: "폐기되었거나 만료되었을 수 있습니다. 키 전체를 복사했는지 확인해 주세요.",
  docs: "문서",
};

export const loginWords = { en: loginEn, ko: loginKo };
