import { npmProject, runTestsOf } from "./separate-project.ts";

/** Installs Bluesky's own server (PDS) and runs the tests of the Bluesky connectors against it. */
await runTestsOf("pds", [npmProject("e2e/real-pds")]);
