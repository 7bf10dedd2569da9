import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The login contract as an app calls it: nothing of a browser in the request, tokens in the body.
struct LoginAPI {
    /// Where the backend mounts it, such as `https://shop.example/login`.
    let base: URL

    /// A refusal that the person can be told: `code` is of the contract, `retryAfter` in seconds.
    struct Refused: Error {
        let code: String
        let message: String
        let retryAfter: Int?
    }

    /// Keep them in the keychain. The device, if verify gives one, also after a logout: the next login gives it to send
    /// and verify.
    struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
        let device: String?
    }

    private struct Sent: Decodable { let otp_id: String }
    private struct Refusal: Decodable {
        let code: String
        let error: String
    }

    // No store of cookies: the tokens are in the body.
    private let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForRequest = 40
        return URLSession(configuration: configuration)
    }()

    init(base: URL) { self.base = base }

    /// Sends a code, and returns the `otp_id` for verify. After the refusal `PROOF_REQUIRED` it needs a proof.
    func send(phone: String, device: String? = nil, proof: String? = nil) async throws -> String {
        let sent: Sent = try decoded(await call("send", ["phone": phone, "device": device, "proof": proof]))
        return sent.otp_id
    }

    func verify(phone: String, code: String, otpID: String, device: String? = nil) async throws -> Tokens {
        let fields = ["phone": phone, "code": code, "otp_id": otpID, "device": device, "tokens": "body"]
        return try decoded(await call("verify", fields))
    }

    func refresh(_ refreshToken: String) async throws -> Tokens {
        try decoded(await call("refresh", ["refresh_token": refreshToken, "tokens": "body"]))
    }

    func logout(_ tokens: Tokens) async throws {
        _ = try await call("logout", ["access_token": tokens.access_token, "refresh_token": tokens.refresh_token])
    }

    private func decoded<Answer: Decodable>(_ data: Data) throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: data)
    }

    private func call(_ path: String, _ fields: [String: String?]) async throws -> Data {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(fields.compactMapValues { $0 })
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        if (200..<300).contains(http.statusCode) { return data }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: data)
        throw Refused(
            code: refusal?.code ?? "LOGIN_UNAVAILABLE",
            message: refusal?.error ?? "",
            retryAfter: http.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init)
        )
    }
}
