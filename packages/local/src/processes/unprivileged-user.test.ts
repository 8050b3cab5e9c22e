import { expect, test } from "vitest";
import { mayEnter, readNobody } from "#src/processes/unprivileged-user.ts";

test("uid and gid of `nobody` are read from the user list of the system", () => {
  const user = "nobody";
  const passwd = `root:x:0:0:root:/root:/bin/bash\n${user}:x:99:98:${user}:/:/sbin/nologin\n`;

  expect(readNobody(passwd)).toEqual({ uid: 99, gid: 98 });
});

test("uid and gid of `nobody` are 65534 on a system that does not list this user", () => {
  expect(readNobody("root:x:0:0:root:/root:/bin/bash\n")).toEqual({ uid: 65_534, gid: 65_534 });
});

test.each([
  ["a folder that only root may enter", false, { mode: 0o700, uid: 0, gid: 0 }],
  ["a folder with the execute bit for others", true, { mode: 0o711, uid: 0, gid: 0 }],
  ["an own folder without the execute bit for the owner", false, { mode: 0o611, uid: 99, gid: 0 }],
  [
    "a folder of the own group with the execute bit for the group",
    true,
    { mode: 0o710, uid: 0, gid: 98 },
  ],
])("the check whether a user may enter %s returns %s", (_name, open, folder) => {
  expect(mayEnter(folder, { uid: 99, gid: 98 })).toBe(open);
});
