import Foundation

let file = URL(fileURLWithPath: CommandLine.arguments[1])
let table = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as! [String: Any]
let messages = table["messages"] as! [[String: Any]]
var failed = 0
for message in messages {
    let wanted = (message["read"] ?? message["code"]) as? String
    let read = CodeInMessage.read(message["text"] as! String, domain: (message["domain"] ?? table["domain"]) as? String)
    if read == wanted { continue }
    failed += 1
    print("not ok  \(message["text"]!): \(read ?? "nothing"), not \(wanted ?? "nothing")")
}
print("Swift: \(failed) of \(messages.count) messages are not read as the table has them")
exit(failed == 0 ? 0 : 1)
