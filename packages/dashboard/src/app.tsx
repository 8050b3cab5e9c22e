import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { Route, Router, Switch } from "wouter";
import { queryClient } from "./api/query-client.ts";
import { ErrorBoundary } from "./frame/error-boundary.tsx";
import { Frame } from "./frame/frame.tsx";
import { LoginScreen } from "./screens/login/login-screen.tsx";
import { SessionGate } from "./session/session-gate.tsx";

/** The whole page: the login stands alone, every other screen in the frame of a session. */
export function App() {
  return (
    <StrictMode>
      <ErrorBoundary>
        <QueryClientProvider client={queryClient}>
          <Router base="/app">
            <Switch>
              <Route path="/login">
                <LoginScreen />
              </Route>
              <Route>
                <SessionGate>
                  <Frame />
                </SessionGate>
              </Route>
            </Switch>
          </Router>
        </QueryClientProvider>
      </ErrorBoundary>
    </StrictMode>
  );
}
