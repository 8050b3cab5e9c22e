import { expect, test } from "vitest";
import { mayEnter, nobody } from "#src/unprivileged-user.ts";

test("nobody is read from the system's own list of users", () => {
  const passwd = "root:x:0:0:root:/root:/bin/bash\nnobody:x:99:98:nobody:/:/sbin/nologin\n";

  expect(nobody(passwd)).toEqual({ uid: 99, gid: 98 });
});

test("a system without an entry for nobody uses the conventional number", () => {
  expect(nobody("root:x:0:0:root:/root:/bin/bash\n")).toEqual({ uid: 65_534, gid: 65_534 });
});

test.each([
  ["a root-only folder is closed", { mode: 0o700, uid: 0, gid: 0 }, false],
  ["a folder that others may pass is open", { mode: 0o711, uid: 0, gid: 0 }, true],
  ["an own folder follows the owner's bit", { mode: 0o611, uid: 99, gid: 0 }, false],
  ["a folder of the own group follows the group's bit", { mode: 0o710, uid: 0, gid: 98 }, true],
])("%s", (_name, folder, open) => {
  expect(mayEnter(folder, { uid: 99, gid: 98 })).toBe(open);
});
