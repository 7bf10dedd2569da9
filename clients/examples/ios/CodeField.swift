import SwiftUI

/// One field for the code, above whose keyboard iOS offers the code of a message that just came.
struct CodeField: View {
    @Binding var code: String
    /// Called when one change brings the whole code, never while somebody types.
    let whole: (String) -> Void

    var body: some View {
        TextField("6-digit OTP", text: $code)
            .keyboardType(.numberPad)
            .textContentType(.oneTimeCode)
            .onChange(of: code) { before, after in
                let digits = after.filter(\.isNumber)
                if before.isEmpty, digits.count == 6 { whole(digits) }
            }
    }
}
