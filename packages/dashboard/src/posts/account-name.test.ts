import { expect, test } from "vitest";
import { accountNameOf } from "./account-name.ts";

test("a Page or a chat is called by its title, another account by its handle, and neither has an empty name", () => {
  const account = { username: "-1001220659622", displayName: "Riders of the Han" };
  expect(accountNameOf({ platform: "telegram", ...account })).toBe("Riders of the Han");
  expect(accountNameOf({ platform: "x", ...account, username: "riders" })).toBe("riders");
  expect(accountNameOf({ platform: "facebook", ...account, displayName: "" })).toBe(
    "-1001220659622",
  );
  expect(accountNameOf({ platform: "bluesky", ...account, username: "" })).toBe(
    "Riders of the Han",
  );
});
