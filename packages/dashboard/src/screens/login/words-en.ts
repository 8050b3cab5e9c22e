export const loginEn = {
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
