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
