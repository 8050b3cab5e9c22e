import { join } from "node:path";
import { root, runInForeground } from "./check/run-command.ts";
import { npmProject, runTestsOf } from "./separate-project.ts";

const PATH = "e2e/third-party";
const FOLDER = join(root, PATH);
const PYTHON = join(FOLDER, "node_modules/.python");

/** Installs the Python packages into a separate folder. */
async function installPython(): Promise<boolean> {
  const made = await runInForeground("python3", ["-m", "venv", PYTHON], {}).catch(() => false);
  if (!made) {
    process.stderr.write("python3 with venv is missing: apt-get install python3 python3-venv\n");
    return false;
  }
  const args = [
    "install",
    "--quiet",
    "--no-deps",
    "--requirement",
    join(FOLDER, "requirements.txt"),
  ];
  return await runInForeground(join(PYTHON, "bin/pip"), args, {
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
  });
}

/** Installs third-party programs, such as generators of clients, and runs the tests that use the API with them. */
await runTestsOf("third-party", [
  npmProject(PATH),
  {
    folder: FOLDER,
    lockfile: "requirements.txt",
    stamp: "node_modules/.python/.installed",
    install: installPython,
  },
]);
