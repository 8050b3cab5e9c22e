const posts = (count: string) =>
  count === "1" ? "1 publication waits" : `${count} publications wait`;
const go = (count: string) =>
  count === "1"
    ? "goes out by itself when it is resumed"
    : "go out by themselves when it is resumed";

export const statusEn = {
  title: "Quota and status",
  pausedPlatform: (platform: string) => `The operator has paused ${platform}.`,
  pausedAccount: (account: string) => `The operator has paused the account ${account}.`,
  pausedWorkspace: "The operator has paused this workspace.",
  pausedDeployment: "The operator holds publishing on the whole installation.",
  deploymentHint: "Its data is a copy or was restored, and nothing must go out twice.",
  since: "Since",
  waiting: (count: string) => `${posts(count)} and ${go(count)}.`,
  nothingWaits: "Nothing waits for it.",
  reason: (text: string) => `Reason: “${text}”`,
  show: "Show its posts",
  slow: (platform: string) => `${platform} answers slowly.`,
  slowHint: "Several calls in a row had no answer.",
  appLimit: (platform: string) => `The app’s limit at ${platform} is used up.`,
  held: (count: string) => `${posts(count)}.`,
  nextTry: "Next try",
  nothingLost: "Nothing is lost.",
  accountHeld: (account: string, platform: string) => `${account} on ${platform} is held back.`,
  accountHeldHint: "It reached a limit of its platform, or failed several times in a row.",
  until: "Until",
  allFine: "Everything works. Nothing is held back.",
  onePublication: "One publication is one account",
  beginsAnew: "Begins anew",
  utc: (clock: string) => `(${clock} UTC)`,
  leftOf: (limit: string) => `left of ${limit}`,
  used: "used",
  reserved: "reserved by scheduled posts",
  left: "left",
  pace: (count: string) => `At this month’s pace about ${count} are used by its end.`,
  whole: "A post that does not fit is refused as a whole, before anything is sent.",
  monthLabel: (used: string, reserved: string, limit: string) =>
    `${used} used and ${reserved} reserved of ${limit}`,
  requests: "Requests",
  allKeys: "All keys together",
  requestsLeft: (limit: string) => `of ${limit} left this minute`,
  requestsHint: "The dashboard and the API keys of this workspace share this budget.",
  today: "Today, per account",
  account: "Account",
  usedReserved: "Used + reserved",
  of: (limit: string) => `of ${limit}`,
  scopes: {
    account: "",
    app: "the whole app",
    project: "the whole project",
  } as Readonly<Record<string, string>>,
  full: "full until then",
  forecast:
    "A forecast: the platform’s own window decides, and a refusal there waits without costing an attempt. Accounts that are not listed have no daily limit.",
  noDaily: "No account has a daily limit.",
  platforms: "Platforms",
  works: "Works",
  slowState: "Answers slowly",
  limitState: "App limit used up",
  pausedState: "Paused by the operator",
};
