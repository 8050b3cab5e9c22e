import { npmProject, pythonProject, runTestsOf } from "./separate-project.ts";

const PATH = "e2e/third-party";

/**
 * Installs third-party programs, such as generators of clients, and runs the tests that use the API
 * with them.
 */
await runTestsOf("third-party", [npmProject(PATH), pythonProject(PATH)]);
