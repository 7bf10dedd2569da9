import SwiftUI

/// One field for the code, above whose keyboard iOS offers the code of a message that just came. A whole message may be
/// pasted.
struct CodeField: View {
    @Binding var code: String
    /// `--webotp-domain` of the project, if it has one.
    var domain: String?
    /// Called when one change brings the whole code, never while a person types.
    let whole: (String) -> Void

    var body: some View {
        TextField("6-digit OTP", text: $code)
            .keyboardType(.numberPad)
            .textContentType(.oneTimeCode)
            .onChange(of: code) { before, after in
                guard before.isEmpty, after.count > 1 else { return }
                let read = CodeInMessage.read(after, domain: domain)
                // A message without one code in it is not left in the field.
                if read != nil || after.count > 6 { code = read ?? "" }
                if let read { whole(read) }
            }
    }
}
