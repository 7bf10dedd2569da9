"use client";
import { useState } from "react";

export default function Page() {
  const [changed, change] = useState(false);
  const [identity, welcome] = useState("nobody");
  return (
    <main lang={changed ? "hi" : "en"}>
      <button id="change" onClick={() => change(true)}>Change</button>
      <dwar-login endpoint={changed ? "/auth" : "/login"} ondwar-login={({ detail }) => welcome(detail.identity_id)}>
        <p>Scripts are needed to log in.</p>
      </dwar-login>
      <output>{identity}</output>
    </main>
  );
}
